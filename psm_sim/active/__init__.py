"""Learners that ask for labels: when is a label worth its price. Arrays in; knows no radio."""
