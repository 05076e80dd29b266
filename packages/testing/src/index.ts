export { adapterBattery, type AdapterUnderTest, type Mounted } from './adapter-battery.ts';
export { storeBattery, type StoreUnderTest } from './store-battery.ts';
export { callBody, recordingBody, startSender, type Sender } from './sender.ts';
export { collectingLogger } from './collecting-logger.ts';
export { deferred } from './deferred.ts';
export { listening } from './listening.ts';
export { routeHandlerServer, type RouteHandler } from './route-handler-server.ts';
