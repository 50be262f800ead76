/** Canvases in the page's colours, sharp on any screen. */
import { fateOrder } from "../../model/fates.ts";
import { paints } from "../../state/preferences.ts";

type Colour = readonly [number, number, number, number];

/** The colours as they were read last: reading them makes the browser lay out the page. */
let read: { readonly painted: number; readonly colours: readonly Colour[] } | undefined;

/** The colours of fates in {@link fateOrder} as red, green, blue and opacity, as the style sheet has them now. */
function fateColours(): readonly Colour[] {
  const painted = paints.peek();
  if (read?.painted !== painted) read = { painted, colours: fateOrder.map((fate) => colourOf(`--fate-${fate}`)) };
  return read.colours;
}

/** A colour of the style sheet by its variable. */
function colourOf(variable: string): Colour {
  const probe = document.createElement("span");
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const parts = getComputedStyle(probe).color.match(/[\d.]+/g) ?? [];
  probe.remove();
  const [red = 0, green = 0, blue = 0, opacity = 1] = parts.map(Number);
  return [red, green, blue, Math.round(255 * opacity)];
}

/** Draws places in {@link fateOrder}, row by row, over the whole of a canvas without blur. */
export function drawFates(canvas: HTMLCanvasElement, fates: Uint8Array, width: number, height: number): void {
  const context = canvas.getContext("2d");
  if (!context || width === 0 || height === 0) return;
  const colours = fateColours();
  const image = new ImageData(width, height);
  fates.forEach((fate, place) => image.data.set(colours[fate] ?? [0, 0, 0, 0], 4 * place));
  canvas.width = width;
  canvas.height = height;
  context.putImageData(image, 0, 0);
}
