declare module 'koa-bodyparser' {
  import type { Middleware } from 'koa';
  export default function bodyParser(): Middleware;
}
