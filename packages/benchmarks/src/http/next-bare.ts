import { nextServer } from './next-server.ts';

/** A route handler that collects the body and answers. */
export const listen = () => nextServer('/bare');
