import type { OpenChannel } from './types.ts';

/** For runtimes without `node:diagnostics_channel`. */
export const openChannel: OpenChannel = () => undefined;
