/** A picture for a place where an API accepts nothing but one. */

/** One transparent pixel: a screenshot that left the window leaves something its API accepts. */
export const blankPicture =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
