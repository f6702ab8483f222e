"""The DuckDB store keeps the contract of stores."""

import pytest

from clew.ports import Store
from clew.stores.duckdb import make
from clew.testing.store_contract import StoreContract


class TestDuckStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return make()
