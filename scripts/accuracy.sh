#!/bin/sh
# Writes the scores of docs/diagnosis-accuracy.md. The corpus is looked for at $RIDGE_CORPUS, then beside the checkout;
# without it only the gallery is scored.
set -eu
cd "$(dirname "$0")/.."
corpus=${RIDGE_CORPUS:-../shared/corpus}/pairs
set -- fixtures/gallery
if [ -f "$corpus/labels.jsonl" ]; then
    set -- "$@" "$corpus"
fi
if [ -z "${RIDGE:-}" ]; then
    cargo build --release --locked --package ridge
    RIDGE=target/release/ridge
fi
exec python3 scripts/accuracy.py "$RIDGE" "$@"
