/** BullMQ's class of workers, without a server. @param listeners gets those of its events, by their names */
export const fakeWorker = (listeners = new Map<string, (error: Error) => void>()) =>
  class Worker {
    on(event: string, listener: never) {
      listeners.set(event, listener);
    }
    pause = () => Promise.resolve();
    close = () => Promise.resolve();
    run = () => Promise.resolve();
    isPaused = () => false;
    isRunning = () => true;
    cancelJob = () => true;
    cancelAllJobs = () => undefined;
  };
