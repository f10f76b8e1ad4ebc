"use strict";
(() => {
	const root = document.documentElement;
	const notice = document.querySelector("#live span");
	const focusable = "header a, main a, main summary, main .wide";
	const key = e => [e.tagName, e.getAttribute("href"), e.getAttribute("aria-label")].join();
	const say = (state, words) => {
		if (notice.textContent === words) return; // it would be read out again
		notice.className = state;
		notice.textContent = words;
	};
	let loading = 0; // how long the page took to load, in milliseconds

	// refresh puts what is new into the page, and keeps the reader's place in it.
	const refresh = async () => {
		const began = performance.now();
		const answer = await fetch(location.href, { cache: "no-store" });
		if (!answer.ok && answer.status !== 404) throw new Error(answer.statusText);
		const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
		const open = [...document.querySelectorAll("main details")].map(details => details.open);
		const focused = document.activeElement;
		const alike = () => [...document.querySelectorAll(focusable)].filter(e => key(e) === key(focused));
		const at = alike().indexOf(focused);
		for (const part of ["header", "main", "footer"]) {
			document.querySelector(part).replaceWith(fresh.querySelector(part));
		}
		document.querySelectorAll("main details").forEach((details, i) => { details.open = open[i] === true; });
		if (at >= 0) alike()[at]?.focus({ preventScroll: true });
		root.dataset.version = fresh.documentElement.dataset.version;
		loading = performance.now() - began;
	};

	const look = async () => {
		let pause = 10000;
		try {
			if (!document.hidden) {
				const answer = await fetch(root.dataset.live, { cache: "no-store" });
				if (!answer.ok) throw new Error(answer.statusText);
				if (await answer.text() !== root.dataset.version) await refresh();
				say("on", "live");
			}
			pause = Math.max(2000, 10 * loading);
		} catch {
			say("off", "not connected: shimctl serve has ended, or another one is running");
		}
		setTimeout(look, pause);
	};
	say("on", "live");
	setTimeout(look, 2000);
})();
