"""Small vaults to index by the real pipeline."""

from __future__ import annotations

from clew import Index
from clew.options import EmbedOptions, IndexOptions

NOTES = {
    "garden/Soil.md": "# Soil\n\nSoil is the layer of minerals and rotted plants in which roots grow. "
    "It holds water for weeks.\n\n## Acidity\n\nMost vegetables like a soil that is slightly acid. "
    "Lime makes it less acid.\n",
    "garden/Compost.md": "# Compost\n\nCompost is made of leaves and kitchen scraps that rot for a year. "
    "It feeds the [[Soil]].\n\nTo start a heap:\n\n- lay twigs on the ground\n- add leaves and scraps\n"
    "- keep it moist\n",
    "garden/Mulch.md": "# Mulch\n\nMulch is a layer of straw that covers the [[Soil]] around plants. "
    "It keeps the water in.\n",
    "garden/Earthworm.md": "# Earthworm\n\nThe earthworm eats dead leaves and turns them into [[Compost]]. "
    "Its tunnels let air into the [[Soil]].\n",
    "ships/Sail.md": "# Sail\n\nA sail catches the wind and drives the ship forward. "
    "The [[Mast]] carries it.\n\n```python\ndef reef(sail, wind):\n    return sail.area / wind\n```\n",
    "ships/Mast.md": "# Mast\n\nThe mast is a tall pole on the [[Keel]] that carries the [[Sail]].\n",
    "ships/Keel.md": "# Keel\n\nThe keel runs along the bottom of the ship and keeps it upright. "
    "It is made of oak.\n",
    "ships/Rudder.md": "# Rudder\n\nThe rudder hangs behind the [[Keel]] and steers the ship. "
    "The helmsman holds its tiller.\n",
    "хліб/Закваска.md": "# Закваска\n\nЗакваска — це суміш борошна й води, у якій живуть дріжджі. "
    "Вона піднімає [[Тісто]].\n",
    "хліб/Тісто.md": "# Тісто\n\nТісто місять із борошна, води та солі. [[Закваска]] робить його пухким.\n",
    "茶/绿茶.md": "# 绿茶\n\n绿茶是不发酵的茶，主要产于中国南方的山区。泡绿茶的水温不宜太高。\n",
    "茶/茶壶.md": "# 茶壶\n\n茶壶是泡茶用的器具，宜兴的茶壶用紫砂做成。[[绿茶]]可以用玻璃杯。\n",
}


def build(folder, notes, embedder):
    for key, text in notes.items():
        path = folder / "notes" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "notes").mkdir(exist_ok=True)
    options = IndexOptions(embed=EmbedOptions(embedder=embedder))
    return Index.build([folder / "notes"], folder / "index.duckdb", options=options)
