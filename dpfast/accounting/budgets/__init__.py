"""Budgets that several fits share: filters in memory and ledgers on disk."""
