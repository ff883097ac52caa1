#!/bin/sh
# Untried: no Colab is reachable where this is developed. In a notebook there, after a checkout: !sh colab/setup.sh
# These are the steps that `make test` begins with; smoke runs every notebook at its smallest size.
set -e
make env
make assets
make smoke
