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

  globalThis.windrowTest = {
    violations,
    until,
    windowText,
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
