export { adapterBattery, type AdapterUnderTest, type Mounted } from './adapter-battery.ts';
export { storeBattery, type StoreUnderTest } from './store-battery.ts';
export { callBody, recordingBody, startSender, type Sender } from './sender.ts';
export { collectingLogger } from './collecting-logger.ts';
export { deferred } from './deferred.ts';
export { listening } from './listening.ts';
export { postgresBinaries, startPostgres, type PostgresServer } from './servers/postgres.ts';
