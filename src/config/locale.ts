/** The languages that prompts, markers and labels are written in. */

/** English, Japanese or Simplified Chinese. */
export type Locale = "en" | "ja" | "zh";
