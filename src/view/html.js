'use strict';
/* Tables that a click or a key on a heading sorts. */
for (const table of document.querySelectorAll('table.sort')) {
	const body = table.tBodies[0];
	[...table.tHead.rows[0].cells].forEach((head, at) => {
		const button = document.createElement('button');
		const value = row => {
			const cell = row.cells[at];
			return cell.dataset.v === undefined ? cell.textContent : +cell.dataset.v;
		};
		button.append(...head.childNodes);
		head.append(button);
		button.onclick = () => {
			const down = head.getAttribute('aria-sort') !== 'descending';
			for (const other of table.tHead.rows[0].cells)
				other.removeAttribute('aria-sort');
			head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
			const order = (a, b) => {
				const x = value(a), y = value(b);
				if (typeof x === 'number' && typeof y === 'number')
					return x - y;
				return typeof x === typeof y ? x.localeCompare(y) : typeof x === 'number' ? 1 : -1;
			};
			body.append(...[...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)));
		};
	});
}
/* Curves over time that zoom together; without this script or dygraphs the pictures stay. */
if (window.Dygraph) {
	const units = [['', 'k', 'M', 'G'], ['B/s', 'kB/s', 'MB/s', 'GB/s']];
	const three = v => +v.toPrecision(3);
	const count = (v, unit) => {
		let i = 0;
		for (; Math.abs(v) >= 1000 && i < 3; i++)
			v /= 1000;
		return three(v) + unit[i];
	};
	const duration = ns => ns >= 1e9 ? three(ns / 1e9) + 's' : ns >= 1e6 ? three(ns / 1e6) + 'ms' :
		ns >= 1e3 ? three(ns / 1e3) + 'us' : three(ns) + 'ns';
	const time = s => s ? duration(s * 1e9) : '0s';
	const graphs = [];
	const colors = {max: '--c3', p99: '--c2', p50: '--c1', reads: '--c1', writes: '--c2', others: '--c3', read: '--c1', written: '--c2',
		srtt: '--c2', cwnd: '--c1', 'sent again': '--c3'};
	const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	/* Those of the same recordings. Times of others begin elsewhere. */
	const zoom = (figure, window_) => graphs.forEach(other => {
		if (other.figure.id.split('-')[0] === figure.id.split('-')[0])
			other.graph.updateOptions({dateWindow: window_});
	});
	/* A line at a time in all curves of a part, which have the same rows, and their values there; null: none. */
	const cross = (figure, x, row) => graphs.forEach(({figure: other, graph, line}) => {
		if (other.parentNode !== figure.parentNode)
			return;
		const area = graph.getArea();
		line.hidden = x === null;
		line.style.cssText = `left:${graph.toDomXCoord(x)}px;top:${area.y}px;height:${area.h}px`;
		if (other !== figure && x === null)
			graph.clearSelection();
		else if (other !== figure)
			graph.setSelection(row);
	});
	for (const figure of document.querySelectorAll('figure.zoom')) {
		const data = JSON.parse(figure.querySelector('script').textContent);
		const log = figure.dataset.log === '1', label = figure.dataset.label;
		const show = label === '0' ? duration : v => count(v, units[label === '3' ? 1 : 0]);
		const div = document.createElement('div');
		if (data.rows.length < 2)
			continue;
		div.className = log ? 'dyg' : 'dyg small-plot';
		div.tabIndex = 0;
		div.setAttribute('role', 'group');
		div.setAttribute('aria-label', figure.querySelector('figcaption').textContent +
			': plus and minus zoom, arrows move, Escape shows all');
		figure.insertBefore(div, figure.querySelector('svg'));
		figure.classList.add('zoomed');
		const look = () => ({
			colors: data.labels.slice(1).map(name => css(colors[name])),
			axisLineColor: css('--line'), gridLineColor: css('--line'),
		});
		const graph = new Dygraph(div, data.rows, Object.assign(look(), {
			labels: data.labels, logscale: log, legend: 'follow', connectSeparatedPoints: false, strokeWidth: 1.6,
			includeZero: !log, yRangePad: log ? 8 : 0, drawPoints: false, pointSize: 2.5, animatedZooms: false,
			highlightCircleSize: 3,
			axes: {
				x: {valueFormatter: time, axisLabelFormatter: time, pixelsPerLabel: 40},
				y: {valueFormatter: show, axisLabelFormatter: show, axisLabelWidth: 60},
			},
			underlayCallback: (canvas, area, g) => {
				canvas.fillStyle = css('--bad');
				for (const at of data.failed) {
					const x = g.toDomXCoord(at);
					canvas.beginPath();
					canvas.moveTo(x, area.y + 10);
					canvas.lineTo(x - 6, area.y);
					canvas.lineTo(x + 6, area.y);
					canvas.fill();
				}
				canvas.strokeStyle = canvas.fillStyle = css('--fg');
				for (const [at, number] of data.events) {
					const x = g.toDomXCoord(at);
					canvas.beginPath();
					canvas.setLineDash([5, 3]);
					canvas.moveTo(x, area.y + 12);
					canvas.lineTo(x, area.y + area.h);
					canvas.stroke();
					canvas.fillText(number, x + 3, area.y + 9);
				}
				canvas.setLineDash([]);
			},
			zoomCallback: (from, to) => zoom(figure, graph.isZoomed('x') ? [from, to] : null),
			highlightCallback: (event, x, points, row) => cross(figure, x, row),
			unhighlightCallback: () => cross(figure, null),
		}));
		const line = document.createElement('div');
		line.className = 'hair';
		line.hidden = true;
		div.append(line);
		graphs.push({figure, graph, line});
		div.onkeydown = event => {
			const [from, to] = graph.xAxisRange(), [low, high] = graph.xAxisExtremes(), span = to - from;
			const moves = {
				'+': [from + span / 4, to - span / 4], '=': [from + span / 4, to - span / 4],
				'-': [Math.max(low, from - span / 2), Math.min(high, to + span / 2)],
				ArrowLeft: [from - span / 5, to - span / 5], ArrowRight: [from + span / 5, to + span / 5], Escape: null,
			};
			if (!(event.key in moves))
				return;
			event.preventDefault();
			zoom(figure, moves[event.key]);
		};
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => graph.updateOptions(look()));
	}
	if (graphs.length) {
		const hint = document.createElement('p');
		hint.className = 'hint';
		hint.textContent = 'Drag to zoom, double-click shows all; with keys: + - arrows Escape.';
		document.querySelector('figure.zoom').before(hint);
	}
}
