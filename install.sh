#!/bin/sh
# Installs loadline from a release: downloads the archive for this machine, checks it against SHA256SUMS, and copies the
# programs, man pages, completions for bash, zsh and fish, and licences.
#
#   curl -fsSL https://raw.githubusercontent.com/loadline/loadline/main/install.sh | sh
#
# LOADLINE_VERSION   release to install, such as 0.1.0 [default: the latest]
# LOADLINE_PREFIX    where to install [default: ~/.local]
# LOADLINE_RELEASES  where releases are, also file:///FOLDER [default: the project's on GitHub]
set -eu

releases="${LOADLINE_RELEASES:-https://github.com/loadline/loadline/releases}"
prefix="${LOADLINE_PREFIX:-$HOME/.local}"

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

fetch() {
    if [ "${1#file://}" != "$1" ]; then
        cp "${1#file://}" "$2" || fail "cannot copy $1"
    elif command -v curl > /dev/null; then
        curl -fsSL --output "$2" "$1" || fail "cannot download $1"
    elif command -v wget > /dev/null; then
        wget -q -O "$2" "$1" || fail "cannot download $1"
    else
        fail "install curl or wget first"
    fi
}

[ "$(uname -s)" = Linux ] || fail "releases are for Linux; build from source with: cargo install --path crates/app"
case "$(uname -m)" in
    x86_64) target=x86_64-unknown-linux-gnu ;;
    aarch64 | arm64) target=aarch64-unknown-linux-gnu ;;
    *) fail "there is no release for $(uname -m); build from source with: cargo install --path crates/app" ;;
esac

if [ -n "${LOADLINE_VERSION:-}" ]; then
    base="$releases/download/v$LOADLINE_VERSION"
else
    base="$releases/latest/download"
fi

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
fetch "$base/SHA256SUMS" "$folder/SHA256SUMS"
archive="$(awk -v end="-$target.tar.gz" '{ if (substr($2, length($2) - length(end) + 1) == end) print $2 }' "$folder/SHA256SUMS")"
[ -n "$archive" ] || fail "SHA256SUMS of the release names no archive for $target"
fetch "$base/$archive" "$folder/$archive"
(cd "$folder" && grep " $archive\$" SHA256SUMS | sha256sum --check --quiet) || fail "the checksum of $archive is wrong; nothing was installed"

tar -xzf "$folder/$archive" -C "$folder"
unpacked="$folder/${archive%.tar.gz}"
bash="$prefix/share/bash-completion/completions"
zsh="$prefix/share/zsh/site-functions"
fish="$prefix/share/fish/vendor_completions.d"
licences="$prefix/share/doc/loadline"
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$bash" "$zsh" "$fish" "$licences"
install -m 755 "$unpacked/loadline" "$unpacked/loadline-operator" "$prefix/bin/"
install -m 644 "$unpacked"/man/*.1 "$prefix/share/man/man1/"
install -m 644 "$unpacked/completions/loadline.bash" "$bash/loadline"
install -m 644 "$unpacked/completions/_loadline" "$zsh/_loadline"
install -m 644 "$unpacked/completions/loadline.fish" "$fish/loadline.fish"
install -m 644 "$unpacked/LICENSE" "$unpacked/THIRD-PARTY-LICENSES.txt" "$licences/"
echo "installed $("$prefix/bin/loadline" --version) in $prefix/bin"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
if command -v zsh > /dev/null; then
    echo "for completion in zsh, put this before compinit: fpath=(\"$zsh\" \$fpath)"
fi
