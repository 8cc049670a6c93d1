"""A headless Chromium that says when a page complains, asks for anything, or does what it must not."""

import pathlib
import shutil
import sys

SKIPPED = 77

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("skipped: no selenium for /usr/bin/python3 (python3-selenium)")
    sys.exit(SKIPPED)

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")


class Browser:
    """One window, `width` pixels wide, without a network: only files can be opened."""

    def __init__(self, width=1400, height=1000):
        if CHROMIUM is None or DRIVER is None:
            print("skipped: no chromium or no chromedriver: scripts/setup.sh installs them on Debian")
            sys.exit(SKIPPED)
        options = Options()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.command("Network.enable")
        self.command("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        self.driver.quit()

    def command(self, name, **arguments):
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def open(self, page):
        self.complaints()
        self.driver.get(pathlib.Path(page).resolve().as_uri())

    def complaints(self):
        """What the console got since the last call: errors of scripts and breaches of the page's policy too."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def dark(self, on):
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])
