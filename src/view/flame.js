'use strict';
const W = 1200, frames = [...document.querySelectorAll('.f')].map(e =>
	({e, x: +e.dataset.x, w: +e.dataset.w, d: +e.dataset.d, name: e.dataset.n.toLowerCase()}));
const all = frames[0], found = document.getElementById('found'), input = document.getElementById('search');
let zoomed = all;
function zoom(z) {
	zoomed = z;
	for (const o of frames) {
		const from = Math.max(o.x, z.x), to = Math.min(o.x + o.w, z.x + z.w), width = (to - from) * W / z.w;
		o.e.style.display = to > from ? '' : 'none';
		if (to <= from)
			continue;
		o.e.setAttribute('x', (from - z.x) * W / z.w);
		o.e.setAttribute('width', width);
		o.e.classList.toggle('n', width < 24);
		o.e.classList.toggle('under', o.d < z.d);
	}
}
function search() {
	const text = input.value.toLowerCase();
	let end = 0, sum = 0;
	for (const o of frames)
		o.e.classList.toggle('hit', o.hit = !!text && o.d > 0 && o.name.includes(text));
	/* What stands on a function that is found is in it already. */
	for (const o of frames.filter(o => o.hit).sort((a, b) => a.x - b.x || a.d - b.d))
		if (o.x >= end) {
			sum += o.w;
			end = o.x + o.w;
		}
	found.textContent = text ? sum + ' of ' + all.w + ' commands, ' + (100 * sum / all.w).toFixed(1) + ' %' : '';
}
for (const o of frames) {
	o.e.addEventListener('click', () => zoom(o));
	o.e.addEventListener('keydown', event => {
		if (event.key === 'Enter' || event.key === ' ') {
			event.preventDefault();
			zoom(o);
		}
	});
}
document.addEventListener('keydown', event => {
	if (event.key === 'Escape')
		zoom(all);
});
input.addEventListener('input', search);
