import diagnostics from 'node:diagnostics_channel';
import type { OpenChannel, OpenPlainChannel } from './types.ts';

// Runtimes that imitate Node may not have it.
const { channel, tracingChannel } = diagnostics as Partial<typeof diagnostics>;

export const openChannel: OpenChannel = (name) => tracingChannel?.(name);
export const openPlainChannel: OpenPlainChannel = (name) => channel?.(name);
