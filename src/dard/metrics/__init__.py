"""Distances between rewards: plan the queries, evaluate them, reduce them to an estimate."""
