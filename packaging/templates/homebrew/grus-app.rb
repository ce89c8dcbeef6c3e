cask "grus" do
  version "$version"
  sha256 "$dmg_sha256"

  url "https://github.com/$repository/releases/download/v#{version}/$dmg_name"
  name "Grus"
  desc "Private AI on your own machine"
  homepage "https://github.com/$repository"

  depends_on arch: :arm64
  depends_on macos: ">= :sonoma"

  app "Grus.app"
  binary "#{appdir}/Grus.app/Contents/MacOS/grus"

  uninstall launchctl: ["org.grus.login", "org.grus.serve"],
            quit:      "org.grus.Grus"

  zap trash: [
    "~/Library/Application Support/Grus",
    "~/Library/Caches/grus",
    "~/Library/LaunchAgents/org.grus.login.plist",
    "~/Library/LaunchAgents/org.grus.serve.plist",
  ]
end
