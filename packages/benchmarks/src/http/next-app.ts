import { fileURLToPath } from 'node:url';

/** The folder of the app with the two routes, `/bare` and `/ours`. */
export const NEXT_APP = fileURLToPath(new URL('../../../next-app', import.meta.url));
