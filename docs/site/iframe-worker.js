// Browsers start no worker of a page that was opened from a folder. Here the script of the worker runs in a hidden
// frame instead, so that the search works there too. Material for MkDocs loads this file only for such pages.
window.Worker = class extends EventTarget {
  constructor(address) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    this.ready = new Promise((resolve, reject) => {
      const script = inside.document.createElement("script");
      script.onload = resolve;
      script.onerror = reject;
      script.src = address;
      inside.document.body.append(script);
    });
  }

  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
};
