let count = 0;
/** A text that nothing else on this machine has. */
export const unique = (what: string) => `${what}-${String(process.pid)}-${String(++count)}`;
