/** Random for each process, counted within it: unique, and cheaper than a random text each time. */
const PROCESS = `${crypto.randomUUID()}-`;
let count = 0;

/** A fencing token for one claim. */
export const newToken = (): string => PROCESS + String(++count);
