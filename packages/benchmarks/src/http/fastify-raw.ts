import { collected } from './answer.ts';
import { rawApp, started } from './fastify-app.ts';

export const listen = () => started(rawApp(collected));
