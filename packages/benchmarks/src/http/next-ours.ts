import { nextServer } from './next-server.ts';

export const listen = () => nextServer('/ours');
