import type { OpenChannel, OpenPlainChannel } from './types.ts';

/** For runtimes without `node:diagnostics_channel`. */
export const openChannel: OpenChannel = () => undefined;
export const openPlainChannel: OpenPlainChannel = () => undefined;
