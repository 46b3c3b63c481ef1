#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# html.sh - a browser shows what report --html and stacks --svg write: without a message, without a request, at two widths;
# names are text, its figures are those of --format json, tables sort, bars are not cut, curves and stacks zoom, and the
# line under the pointer is in all curves.
#
# Screenshots stay in SCREENSHOTS=FOLDER. make check installs the browser where it can; without one this is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
build=${BUILD:-build}
program=$build/ntprof-bpf
if ! command -v chromium-headless-shell >/dev/null; then
	echo "ok 1 - a browser shows the report # SKIP no chromium-headless-shell: tests/install-packages browser"
	echo "1..1"
	exit 0
fi
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# browse PAGE WIDTH OPTION...: what the browser writes; its log is in $out/log, its requests are in $out/requests.
browse() {
	local page=$1 width=$2

	shift 2
	timeout 120 chromium-headless-shell --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$out/profile" \
		--enable-logging=stderr --log-net-log="$out/requests" --virtual-time-budget=5000 --window-size="$width,1000" \
		"$@" "file://$out/$page" 2>"$out/log"
}

# Would it be noticed? A page that complains, asks for something and is too wide.
cat >"$out/bad.html" <<'END'
<!DOCTYPE html><img src="http://127.0.0.1:9/"><p style="width:2000px">x</p><script>undefined_name()</script>
END
browse bad.html 390 --dump-dom >/dev/null
equal "a wrong page has messages" "$(grep -c CONSOLE "$out/log")" 1
check "a wrong page makes a request" grep -q '"http://127.0.0.1:9/' "$out/requests"

# The page with a script of the test behind its own, which tries what users do.
cat >"$out/try.js" <<'END'
const told = document.body.dataset;
told.wide = document.documentElement.scrollWidth;
told.images = document.images.length;
const bars = [...document.querySelectorAll('.stack, details[open] .gantt')].map(e => e.getBoundingClientRect());
told.bars = bars.length;
told.cut = bars.filter(bar => bar.right > innerWidth || bar.width < 100).length;
told.canvases = document.querySelectorAll('canvas').length;
const table = document.querySelector('table.sort[id$=queues]');
if (table) {
	const heads = [...table.tHead.rows[0].cells], at = heads.findIndex(h => h.dataset.c === 'mean');
	heads[at].querySelector('button').click();
	told.sorted = [...table.tBodies[0].rows].map(r => r.cells[at].dataset.v).join(' ');
}
const curve = document.querySelector('.dyg');
if (curve) {
	const labels = () => curve.innerText;
	const before = labels();
	for (let i = 0; i < 4; i++)
		curve.dispatchEvent(new KeyboardEvent('keydown', {key: '+'}));
	told.zoomed = before !== labels();
	curve.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
	told.whole = before === labels();
	const hairs = () => [...document.querySelectorAll('.hair')].filter(e => !e.hidden).map(e => e.style.left);
	const area = curve.getBoundingClientRect(), over = [...curve.querySelectorAll('canvas')].pop();
	const move = name => over.dispatchEvent(
		new MouseEvent(name, {clientX: area.x + area.width / 2, clientY: area.y + 50, bubbles: true}));
	move('mousemove');
	const there = hairs(), of = curve.closest('section').querySelectorAll('.dyg');
	told.crossed = there.length === of.length && new Set(there).size === 1 &&
		[...of].every(e => e.querySelector('.dygraph-legend').innerText);
	move('mouseout');
	told.uncrossed = !hairs().length;
}
END
with_script() {
	local nonce

	nonce=$(grep -o -m1 "nonce-[0-9a-f]*" "$out/$1.html")
	sed "s|</body></html>|<script nonce=${nonce#nonce-}>{$(tr '\n' ' ' <"$out/try.js" | sed 's/[&|\\]/\\&/g')}</script></body></html>|" \
		"$out/$1.html" >"$out/$1-tried.html"
}

recordings=(docs/examples/slow-disk.{host,target}.ntp)
"$program" report "${recordings[@]}" --html "$out/both.html" --format json >"$out/both.json"
"$program" report "${recordings[0]}" --html "$out/alone.html" --format json >"$out/alone.json"
NTPROF_HTML=$out "$build/unit/cli/test_report_html" >"$out/log" 2>&1 || cat "$out/log"
"$program" report --html "$out/compared.html" --compare "${recordings[@]}" -- "${recordings[@]}" >/dev/null
for page in both alone hostile events compared; do
	with_script $page
	for width in 1280 390; do
		browse $page-tried.html $width --dump-dom >"$out/$page-$width.dom"
		equal "$page, $width wide: no message" "$(grep CONSOLE "$out/log")" ""
		equal "$page, $width wide: no request" "$(grep -o '"url":"[a-z]*:' "$out/requests" | grep -v '"url":"file:' | sort -u)" ""
		[[ -z ${SCREENSHOTS:-} ]] ||
			browse $page.html $width --screenshot="$(realpath "$SCREENSHOTS")/$page-$width.png" --window-size="$width,7000"
	done
done
# The flame graph of stacks --svg: what a click and a search do.
NTPROF_FLAME=$out/flame.svg "$build/unit/view/test_flame" >"$out/log" 2>&1 || cat "$out/log"
cat >"$out/try.js" <<'END'
const seen = [...document.querySelectorAll('.f')], of = name => seen.find(e => e.dataset.n === name);
const wide = e => Math.round(e.getAttribute('width'));
const told = [seen.length, wide(of('plug_flush'))];
of('plug_flush').dispatchEvent(new MouseEvent('click'));
told.push(wide(of('plug_flush')), of('direct_issue').style.display);
document.getElementById('search').value = 'IO_SUBMIT';
document.getElementById('search').dispatchEvent(new Event('input'));
told.push(document.getElementById('found').textContent);
document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
told.push(wide(of('plug_flush')), document.querySelectorAll('.hit').length);
document.documentElement.dataset.told = told.join(' | ');
END
sed "s|^]]></script>|{$(tr '\n' ' ' <"$out/try.js" | sed 's/[&|\\]/\\&/g')}\n&|" "$out/flame.svg" >"$out/flame-tried.svg"
for width in 1280 390; do
	browse flame-tried.svg $width --dump-dom >"$out/flame-$width.dom"
	equal "flame graph, $width wide: no message" "$(grep CONSOLE "$out/log")" ""
	equal "flame graph, $width wide: no request" "$(grep -o '"url":"[a-z]*:' "$out/requests" | grep -v '"url":"file:' | sort -u)" ""
	equal "flame graph, $width wide: it zooms and finds" "$(grep -o 'data-told="[^"]*"' "$out/flame-$width.dom")" \
		'data-told="14 | 780 | 1200 | none | 80 of 100 commands, 80.0 % | 780 | 2"'
	[[ -z ${SCREENSHOTS:-} ]] || browse flame.svg $width --screenshot="$(realpath "$SCREENSHOTS")/flame-$width.png"
done
while IFS=$'\t' read -r name verdict; do
	equal "$name" "$verdict" yes
done < <(python3 tests/formats/html_figures.py "$out")
finish
