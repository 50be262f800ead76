/** The part of asciichart that the charts use; the package ships no types. */
declare module "asciichart" {
  export interface PlotConfig {
    readonly height?: number;
    readonly min?: number;
    readonly max?: number;
    readonly colors?: readonly (string | undefined)[];
    readonly format?: (value: number) => string;
  }
  const asciichart: {
    readonly cyan: string;
    readonly green: string;
    readonly magenta: string;
    readonly yellow: string;
    readonly blue: string;
    plot(series: readonly (readonly number[])[], config?: PlotConfig): string;
  };
  export default asciichart;
}
