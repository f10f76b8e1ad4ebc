"use strict";
(() => {
	const root = document.documentElement;
	const notice = document.querySelector("#live span");
	const focusable = "header a, main a, main summary, main .wide";

	// What is typed into the field hides the rows and chains that do not have it; a number and Enter lead to that call.
	const field = document.createElement("input");
	field.type = "search";
	field.placeholder = "Find: /   sections: n, p";
	field.setAttribute("aria-label", "find on this page; the keys / n p lead here, to the next section and to the one before");
	document.getElementById("live").append(document.createElement("br"), field);
	const find = () => {
		const words = field.value.toLowerCase().split(/\s+/);
		for (const e of document.querySelectorAll("main tbody tr, main .chains > li")) {
			const text = e.textContent.toLowerCase();
			e.hidden = !words.every(word => text.includes(word));
		}
	};
	field.addEventListener("input", find);
	document.addEventListener("keydown", e => {
		if (e.target === field) {
			const call = /^\s*#?(\d+)\s*$/.exec(field.value);
			if (e.key === "Enter" && call) location.href = new URL("call/" + call[1], new URL(root.dataset.live, location.href));
			if (e.key === "Escape") {
				field.value = "";
				find();
				field.blur();
			}
			return;
		}
		if (e.ctrlKey || e.altKey || e.metaKey) return;
		if (e.key === "/") {
			e.preventDefault();
			field.focus();
		} else if (e.key === "n" || e.key === "p") {
			const titles = [...document.querySelectorAll("main h2")].filter(title => title.checkVisibility());
			const top = title => title.getBoundingClientRect().top;
			const next = e.key === "n" ? titles.find(title => top(title) > 8) : titles.findLast(title => top(title) < -8);
			next?.scrollIntoView();
			next?.setAttribute("tabindex", "-1");
			next?.focus({ preventScroll: true });
		}
	});

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
		find();
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
