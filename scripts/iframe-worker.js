// SPDX-License-Identifier: Apache-2.0
// Runs the search of the documentation in a hidden frame if a page was opened from a file, because browsers start no workers there.
if (location.protocol === "file:") {
    window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            this.frame = document.createElement("iframe");
            this.frame.hidden = true;
            document.documentElement.append(this.frame);
            const inside = this.frame.contentWindow;
            inside.postMessage = data => this.report(data);
            // A worker loads further scripts at once. A frame cannot, so the messages wait until each has loaded.
            this.loading = Promise.resolve();
            inside.importScripts = (...urls) => urls.forEach(each => this.load(each));
            this.load(url);
        }

        load(url) {
            this.loading = this.loading.then(() => new Promise((resolve, reject) => {
                const script = this.frame.contentDocument.createElement("script");
                script.src = url;
                script.onload = resolve;
                script.onerror = reject;
                this.frame.contentDocument.documentElement.append(script);
            }));
        }

        // Delivers a message to the worker.
        postMessage(data) {
            this.loading = this.loading.then(() => {
                const inside = this.frame.contentWindow;
                inside.dispatchEvent(new inside.MessageEvent("message", { data }));
            });
        }

        // Delivers a message of the worker.
        report(data) {
            const event = new MessageEvent("message", { data });
            this.dispatchEvent(event);
            this.onmessage?.(event);
        }

        terminate() { this.frame.remove(); }
    };
}
