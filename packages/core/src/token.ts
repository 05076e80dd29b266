/** Random for each process, counted within it: unique, and cheaper than a random text each time. */
let prefix: string | undefined;
let count = 0;

/** A fencing token for one claim. */
export function newToken(): string {
  prefix ??= `${crypto.randomUUID()}-`; // not at import: Workers allow nothing random there
  return prefix + String(++count);
}
