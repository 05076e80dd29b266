export { instrument, type InstrumentOptions, type Telemetry } from './instrument.ts';
export type { AttentionReport } from './attention.ts';
export type { QueueDepth } from './metrics.ts';
