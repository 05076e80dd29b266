/** Only workerd has this module. */
declare module 'cloudflare:workers' {
  export const DurableObject: typeof import('./durable-object.ts').DurableObject;
}
