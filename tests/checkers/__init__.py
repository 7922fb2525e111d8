"""Memory and race checkers over our own kernels, at small odd sizes: run by tox envs of their own."""
