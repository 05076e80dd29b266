/** What this package uses of Next, so that it compiles where Next is not installed. */
declare module 'next/server.js' {
  export function after(task: () => unknown): void;
}
