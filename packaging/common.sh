# Shared by packaging/run and packaging/test; sourced, never run.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\033[1m%s\033[0m\n' "== $*" >&2; }
die() { printf '%s\n' "$*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else die "Some packages are missing and need root to install: run this as root, or install sudo. Needed: $*"
    fi
}

# packages SECTION...: the names under these headings of packaging/dependencies.
packages() {
    local want=" $* " section= line
    while IFS= read -r line; do
        line=${line%%#*}; line=${line//[[:space:]]/}
        case $line in
            '') ;;
            '['*']') section=${line#[}; section=${section%]} ;;
            *) case $want in *" $section "*) printf '%s\n' "$line" ;; esac ;;
        esac
    done < "$top/packaging/dependencies" | sort -u
}

# install_packages SECTION...: installs what is missing, and nothing if all is there.
install_packages() {
    local missing=() name
    while IFS= read -r name; do
        dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
    done < <(packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing ${#missing[@]} packages"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
        die "The packages could not be installed: ${missing[*]}"
}

# install_nvrtc: NVIDIA's compiler (142 MiB) and disassembler (6 MiB) below build/nvidia, from PyPI; they need no GPU and no driver.
# Sets LATHE_NVRTC, beside which the other one is found. On other processors than x86-64 nothing is done.
nvrtc_version=13.5.37
install_nvrtc() {
    [ "$(uname -m)" = x86_64 ] || return 0
    local folder=$top/build/nvidia
    local packages=("nvidia-cuda-nvrtc==$nvrtc_version" "nvidia-cuda-nvdisasm==$nvrtc_version")
    if [ ! -d "$folder/nvidia_cuda_nvrtc-$nvrtc_version.dist-info" ] || [ ! -d "$folder/nvidia_cuda_nvdisasm-$nvrtc_version.dist-info" ]; then
        say "Installing NVIDIA's compiler"
        rm -rf "$folder"
        python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
            --target "$folder" "${packages[@]}" ||
            die "NVIDIA's compiler could not be installed: python3 -m pip install ${packages[*]}"
    fi
    LATHE_NVRTC=$(dirname "$(find "$folder" -name 'libnvrtc.so.*' -print -quit)")
    export LATHE_NVRTC
}
