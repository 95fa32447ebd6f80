#!/usr/bin/env bash
# Builds the tests that need a GPU, for a machine that has one and no Rust.
#
# usage: gpu.sh build FOLDER     puts the programs and a script run.sh into a folder
#        FOLDER/run.sh           runs them there; a missing GPU is a failure
set -euo pipefail

if [ "${1:-}" != build ] || [ $# -ne 2 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

cargo test --package ridge-gpu --locked --no-run --tests --message-format json |
    python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["kind"] == ["test"]:
        print(message["target"]["name"], message["executable"])
' |
    while read -r name program; do
        cp "$program" "$folder/$name"
        # Symbols are most of the size, and have to travel.
        strip --strip-debug "$folder/$name" || true
    done

cat > "$folder/run.sh" <<'EOF'
#!/usr/bin/env bash
# Runs the tests of ridge-gpu on the GPU of this machine. Arguments go to the conformance suite, such as a part of a name.
cd "$(dirname "$0")" || exit
export RIDGE_REQUIRE_GPU=1 RUST_BACKTRACE=0
failed=0
./device "$@" || failed=1
if [ $# -eq 0 ]; then
    ./nvrtc || failed=1
    ./clocks || failed=1
fi
exit $failed
EOF
chmod +x "$folder/run.sh"
du -sh "$folder" >&2
