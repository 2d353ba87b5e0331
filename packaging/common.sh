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
