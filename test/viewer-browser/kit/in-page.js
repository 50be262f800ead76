/* Runs in the page before its own script: what the tests ask of the document. */
(() => {
  const violations = [];
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    violations.push(`${violatedDirective} ${blockedURI}`),
  );

  /** Waits until `look` gives something; looks again at each change of the document. */
  function until(look, about) {
    return new Promise((resolve, reject) => {
      const watch = new MutationObserver(again);
      const late = setTimeout(() => {
        watch.disconnect();
        reject(new Error(`${about} did not come: ${document.body.innerText.slice(0, 500)}`));
      }, 30_000);
      function again() {
        const found = look();
        if (found === undefined) return;
        clearTimeout(late);
        watch.disconnect();
        resolve(found);
      }
      watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      again();
    });
  }

  /** The text of the window of a call, once the page shows it. */
  function windowText(call) {
    return until(() => {
      const place = document.querySelector("#window-text");
      const isThere = place?.dataset.call === String(call) && place.getAttribute("aria-busy") !== "true";
      return isThere ? place.textContent : undefined;
    }, `The text of call ${call}`);
  }

  /** Waits until nothing of the document changed for some frames. */
  function settled(frames = 6) {
    return new Promise((resolve) => {
      let quiet = 0;
      const watch = new MutationObserver(() => (quiet = 0));
      watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      const next = () => {
        quiet += 1;
        if (quiet < frames) return void requestAnimationFrame(next);
        watch.disconnect();
        resolve();
      };
      requestAnimationFrame(next);
    });
  }

  /** The rows of the log that are drawn, by their numbers. */
  const drawn = () => [...document.querySelectorAll("#log [aria-posinset]")];

  globalThis.windrowTest = {
    violations,
    until,
    settled,
    windowText,
    /** How many colours a canvas shows. */
    colours(selector) {
      const canvases = document.querySelectorAll(selector);
      const canvas = canvases[canvases.length - 1];
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const found = new Set();
      for (let at = 0; at < data.length; at += 4) found.add(`${data[at]} ${data[at + 1]} ${data[at + 2]}`);
      return found.size;
    },
    /** How many messages the log has. */
    messages: () => Number(drawn()[0]?.getAttribute("aria-setsize") ?? 0),
    /** Waits until the log has so many messages. */
    reach: (count) => until(() => (windrowTest.messages() >= count ? true : undefined), `Message ${count}`),
    /** Waits for a violation or a script that ran. */
    violated: () => until(() => violations[0], "A violation"),
    /** How many items the lists of the log and the window have in the document. */
    itemsDrawn: () => drawn().length + document.querySelectorAll("#window-list [role=listitem]").length,
    /** Scrolls the log to its end, until the last row has its text. */
    async last(count) {
      const list = document.querySelector("#log");
      list.scrollTop = list.scrollHeight;
      await until(() => {
        const text = document.querySelector(`#log-${count} .row-text`)?.textContent;
        return text === undefined || text === "…" ? undefined : text;
      }, `Row ${count}`);
    },
    /** Goes from call to call; the milliseconds until each window stands in the document. */
    async scrub(route, calls) {
      const times = [];
      for (const call of calls) {
        const begun = performance.now();
        location.hash = `${route}/call/${call}`;
        await until(
          () => document.querySelector(`#window-list[aria-label$=" call ${call}"] > *`) ?? undefined,
          `The window of call ${call}`,
        );
        await new Promise((resolve) => requestAnimationFrame(resolve));
        times.push(performance.now() - begun);
      }
      return times;
    },
    /** The texts of all rows of the log, scrolled through from the first to the last. */
    async logRows(count) {
      const list = document.querySelector("#log");
      const found = new Map();
      for (let top = 0; found.size < count && top <= list.scrollHeight; top += list.clientHeight / 2) {
        list.scrollTop = top;
        await settled(3);
        await until(
          () => (drawn().every((row) => row.querySelector(".row-text")?.textContent !== "…") ? true : undefined),
          "A row",
        );
        for (const row of drawn()) {
          found.set(Number(row.getAttribute("aria-posinset")), row.querySelector(".row-text").textContent);
        }
      }
      return [...found].sort(([left], [right]) => left - right).map(([, text]) => text);
    },
    /** What a text of a session calls if it runs. */
    ran: () => violations.push("a script of a text ran"),
    /** The SHA-256 of the window's text at each call. */
    async hashes(route, calls) {
      const found = [];
      for (const call of calls) {
        location.hash = `${route}/call/${call}/text`;
        const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(await windowText(call)));
        found.push([...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
      }
      return found;
    },
  };
})();
