import diagnostics from 'node:diagnostics_channel';
import type { OpenChannel } from './types.ts';

// Runtimes that imitate Node may not have it.
const { tracingChannel } = diagnostics as Partial<typeof diagnostics>;

export const openChannel: OpenChannel = (name) => tracingChannel?.(name);
