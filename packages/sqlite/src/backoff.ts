const FIRST_MS = 5_000;
const MOST_MS = 3_600_000;

/** 5 s, 10 s, 20 s and so on up to an hour; a tenth more or less, so that jobs spread. */
export const defaultBackoff = (attempt: number): number =>
  Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(30, attempt - 1)) * (0.9 + 0.2 * Math.random());
