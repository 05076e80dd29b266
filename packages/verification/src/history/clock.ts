/** Milliseconds of the machine's monotonic clock: the same in all of its processes. */
export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;
