#!/usr/bin/env bash
# Tries the project as on another machine, one without bubblewrap: tests/clean_root.sh UID COMMAND…
#
# In a private mount namespace a root is put together of the system's programs, the Python of $PYTHON (python3), a few
# settings, an empty home and a copy of the project; COMMAND runs in it as that user. Only root can do that, and nothing
# outside of the namespace changes. The packages are downloaded before, into $WHEELS if that names a directory.
set -euo pipefail
if [ "${CLEAN_ROOT:-}" = "" ]; then
    project=$(cd "$(dirname "$0")/.." && pwd)
    root=$(mktemp -d)
    wheels=${WHEELS:-$root.wheels}
    trap 'rmdir "$root"; [ -n "${WHEELS:-}" ] || rm -rf "$wheels"' EXIT
    [ -e "$wheels/.complete" ] ||
        "${PYTHON:-python3}" -m pip download -q --require-hashes -r "$project/requirements-dev.lock" -d "$wheels"
    touch "$wheels/.complete"
    CLEAN_ROOT=$root PROJECT=$project WHEELS=$wheels unshare --mount --propagation private "$0" "$@"
    exit
fi
user=$1
shift
root=$CLEAN_ROOT
mount -t tmpfs -o mode=0755,size=4g tmpfs "$root"
mkdir -p "$root"/{dev,etc,home/user/codur,opt/python,proc,root,run,srv,sys,tmp,usr,var/tmp}
chmod 1777 "$root/tmp" "$root/var/tmp"
chmod 0700 "$root/root"
for name in bin lib lib32 lib64 libx32 sbin; do
    if [ -L "/$name" ]; then ln -s "$(readlink "/$name")" "$root/$name"; fi
done
mount --bind /usr "$root/usr"
if [ -e /usr/bin/bwrap ]; then mount --bind /dev/null "$root/usr/bin/bwrap"; fi
mount --rbind /dev "$root/dev"
mount --bind /sys "$root/sys"
for name in alternatives group hosts ld.so.cache ld.so.conf ld.so.conf.d localtime nsswitch.conf passwd resolv.conf; do
    if [ -e "/etc/$name" ]; then cp -aL "/etc/$name" "$root/etc/$name"; fi
done
prefix=$("${PYTHON:-python3}" -c 'import sys; print(sys.base_prefix)')
python=/usr/bin/python3
if [ "$prefix" != /usr ]; then
    mount --bind "$prefix" "$root/opt/python"
    python=/opt/python/bin/python3
fi
git -C "$PROJECT" ls-files -z --cached --others --exclude-standard |
    tar -C "$PROJECT" --null --ignore-failed-read -T - -c | tar -C "$root/home/user/codur" -x
mkdir "$root/srv/wheels"
mount --bind "$WHEELS" "$root/srv/wheels"
chown -R "$user:$user" "$root/home/user"
mkdir "$root/old"
cd "$root"
# Not chroot: who is in one gets no user namespace, so programs would have no loopback.
exec unshare --pid --fork --kill-child --mount-proc="$root/proc" sh -c 'pivot_root . old && umount -l /old && exec "$@"' sh \
    setpriv --reuid "$user" --regid "$user" --clear-groups -- \
    env -i HOME=/home/user LANG=C.UTF-8 PATH="${python%/*}:/usr/sbin:/usr/bin" PIP_NO_INDEX=1 PIP_FIND_LINKS=/srv/wheels \
    sh -c 'cd ~/codur && exec "$@"' sh "$@"
