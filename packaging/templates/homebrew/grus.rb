class Grus < Formula
  desc "Private AI on your own machine: the command line and the server"
  homepage "https://github.com/$repository"
  url "https://github.com/$repository/releases/download/v$version/$sdist_name"
  sha256 "$sdist_sha256"
  license "Apache-2.0"

  depends_on "uv"
  depends_on "python@3.13"

  def install
    python = Formula["python@3.13"].opt_bin/"python3.13"
    system "uv", "venv", "--python", python, libexec
    system "uv", "pip", "install", "--python", libexec/"bin/python", "grus==$version"
    bin.install_symlink libexec/"bin/grus"
  end

  service do
    run [opt_bin/"grus", "serve"]
    keep_alive crashed: true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/grus --version")
  end
end
