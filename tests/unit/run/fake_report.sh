#!/bin/sh
# Stands in for gpuspy-report: says what it was asked for.
echo "report of $*"
