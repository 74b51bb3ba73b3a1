#!/bin/sh
# get_onnxruntime.sh FOLDER - ONNX Runtime's C header and shared library, for cleave-run on a system
# that has no package of them (Debian 12). Nothing is installed: FOLDER/include and FOLDER/lib are
# made, which is what CMake's ONNXRUNTIME_ROOT expects. Does nothing when they are there.
#
# The header is that of Debian 13's libonnxruntime-dev, the library that of the npm package
# onnxruntime-node. Versions differ and may: a program asks the library for the version of the C API
# that its header has, and a library has all versions up to its own (docs/decisions/0005).
set -eu

header_in=pool/main/o/onnxruntime/libonnxruntime-dev_1.21.0+dfsg-1_amd64.deb # of a Debian mirror
header_sum=14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08   # of the package
library_of=onnxruntime-node@1.30.0                                            # of the npm registry
library_in=package/bin/napi-v6/linux
soname=libonnxruntime.so.1

[ $# -eq 1 ] || { echo "usage: get_onnxruntime.sh FOLDER" >&2; exit 2; }
folder=$1
case $(uname -m) in # sums of the library itself
x86_64) arch=x64 library_sum=ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23 ;;
aarch64) arch=arm64 library_sum=1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76 ;;
*) echo "get_onnxruntime.sh: no library for $(uname -m); cleave-run is left out" >&2; exit 1 ;;
esac
stamp=$folder/$library_sum
[ -e "$stamp" ] && exit 0

work=$folder.part.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/include" "$work/lib"

# SUM FILE: has it that SHA-256?
check() {
    echo "$1  $2" | sha256sum --check --quiet - ||
        { echo "get_onnxruntime.sh: ${2##*/} is not the file that was expected" >&2; exit 1; }
}

# Any architecture's package has the same header, so there is one sum. The mirrors are those that apt
# is set up with.
for mirror in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u); do
    /usr/lib/apt/apt-helper download-file "$mirror$header_in" "$work/dev.deb" "SHA256:$header_sum" \
        >/dev/null 2>&1 && break
done
[ -e "$work/dev.deb" ] ||
    { echo "get_onnxruntime.sh: no Debian mirror of apt has $header_in" >&2; exit 1; }
dpkg-deb --fsys-tarfile "$work/dev.deb" |
    tar -xf - -C "$work/include" --strip-components=4 --wildcards './usr/include/onnxruntime/*'
rm "$work/dev.deb"

# The archive has the libraries of five systems and is not kept: one file of it is.
(cd "$work" && npm pack --silent "$library_of" >/dev/null)
tar -xzOf "$work"/onnxruntime-node-*.tgz "$library_in/$arch/$soname" >"$work/lib/$soname"
rm "$work"/onnxruntime-node-*.tgz
check "$library_sum" "$work/lib/$soname"
ln -s "$soname" "$work/lib/libonnxruntime.so"

: >"$work/$library_sum"
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
mv "$work" "$folder"
