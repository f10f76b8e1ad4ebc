"use strict";
(() => {
	const root = document.documentElement;
	const notice = document.getElementById("live");
	const say = (state, words) => { notice.firstElementChild.className = state; notice.firstElementChild.textContent = words; };
	const selector = "header a, main a, main summary, main .wide"; // what has the focus
	let pause = 2000;

	// refresh puts what is new into the page, and keeps the reader's place in it.
	const refresh = async () => {
		const began = performance.now();
		const answer = await fetch(location.href, { cache: "no-store" });
		if (!answer.ok) throw new Error(answer.statusText);
		const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
		const open = [...document.querySelectorAll("main details")].map(details => details.open);
		const links = [...document.querySelectorAll(selector)];
		const focused = links.indexOf(document.activeElement);
		for (const part of ["header", "main", "footer"]) {
			document.querySelector(part).replaceWith(fresh.querySelector(part));
		}
		[...document.querySelectorAll("main details")].forEach((details, i) => { details.open = open[i] === true; });
		if (focused >= 0) [...document.querySelectorAll(selector)][focused]?.focus({ preventScroll: true });
		root.dataset.version = fresh.documentElement.dataset.version;
		pause = Math.max(2000, 10 * (performance.now() - began)); // a large ledger takes its time
	};

	const look = async () => {
		try {
			if (!document.hidden) {
				const answer = await fetch(root.dataset.live, { cache: "no-store" });
				if (!answer.ok) throw new Error(answer.statusText);
				if (await answer.text() !== root.dataset.version) await refresh();
				say("on", "live");
			}
		} catch {
			say("off", "not connected: shimctl serve has ended, or another one is running");
			pause = 10000;
		}
		setTimeout(look, pause);
	};
	say("on", "live");
	setTimeout(look, pause);
})();
