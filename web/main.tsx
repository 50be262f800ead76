/** The start of the page: it takes its source, and draws itself into the document. */
import { render } from "preact";
import { App } from "./view/app.tsx";

const place = document.getElementById("app");
if (place) render(<App />, place);
