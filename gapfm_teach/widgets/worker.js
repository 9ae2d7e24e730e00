// A training beside the page, in a thread of its own. `engineModule` is engine.js as one function
// that returns its exports: the page that holds both modules defines it.

// Returns {promise, cancel}: `promise` as of `train`, whose options it takes but for functions and
// `signal`; onIteration gets copies. `cancel()` ends the thread at once, and rejects.
export function trainInWorker(options, onIteration) {
  const source = `const { train } = (${engineModule})();
    onmessage = ({ data }) => train({ ...data, onIteration: (done) => postMessage({ done }) }).then(
      (result) => postMessage({ result }),
      ({ message }) => postMessage({ message }),
    );`;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(address);
  let cancel;
  const promise = new Promise((resolve, reject) => {
    cancel = () => reject(new DOMException("the training was cancelled", "AbortError"));
    worker.onmessage = ({ data: { done, result, message } }) => {
      if (done) onIteration?.(done);
      else if (result) resolve(result);
      else reject(new Error(message));
    };
    worker.onerror = ({ message }) => reject(new Error(`the worker stopped: ${message}`));
    worker.postMessage(options);
  }).finally(() => {
    worker.onmessage = null;
    worker.terminate();
    URL.revokeObjectURL(address);
  });
  return { promise, cancel };
}
