// Only the sources of this repository can import it. `npm run build` bundles it into this file.
export { lockFile } from '@call-webhooks/client/lock-file';
