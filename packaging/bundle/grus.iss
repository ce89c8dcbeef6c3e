; The setup program for Windows, for Inno Setup 6. It installs for one person and asks no administrator.
;   iscc /DVersion=1.2.3 /DSource=..\..\build\bundle\grus packaging\bundle\grus.iss
#ifndef Version
  #error The version is missing: /DVersion=1.2.3
#endif
#ifndef Icon
  #define Icon "..\..\build\bundle\grus.ico"
#endif
#ifndef Source
  #define Source "..\..\build\bundle\grus"
#endif

[Setup]
AppId={{6E2B7B36-7A0C-4F0E-9C1B-5A0E5E0E0A01}
AppName=Grus
AppVersion={#Version}
AppPublisher=Grus
DefaultDirName={localappdata}\Programs\Grus
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
OutputDir=..\..\dist
OutputBaseFilename=Grus-{#Version}-setup
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
ChangesEnvironment=yes
CloseApplications=yes
Compression=lzma2/max
SolidCompression=yes
SetupIconFile={#Icon}
UninstallDisplayIcon={app}\GrusApp.exe

[Files]
Source: "{#Source}\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[InstallDelete]
; Files of the version before that this one does not have.
Type: filesandordirs; Name: "{app}\_internal"

[Icons]
Name: "{autoprograms}\Grus"; Filename: "{app}\GrusApp.exe"

[Registry]
Root: HKA; Subkey: "Software\Classes\Applications\GrusApp.exe\SupportedTypes"; ValueType: string; ValueName: ".pdf"; ValueData: ""; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\.pdf\OpenWithProgids"; ValueType: string; ValueName: "Grus.Document"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.png\OpenWithProgids"; ValueType: string; ValueName: "Grus.Document"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.jpg\OpenWithProgids"; ValueType: string; ValueName: "Grus.Document"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.mp3\OpenWithProgids"; ValueType: string; ValueName: "Grus.Document"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.wav\OpenWithProgids"; ValueType: string; ValueName: "Grus.Document"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Grus.Document\shell\open\command"; ValueType: string; ValueData: """{app}\GrusApp.exe"" ""%1"""; Flags: uninsdeletekey

[Run]
Filename: "{app}\GrusApp.exe"; Description: "{cm:LaunchProgram,Grus}"; Flags: nowait postinstall skipifsilent

[UninstallRun]
Filename: "{app}\grus.exe"; Parameters: "service remove"; Flags: runhidden; RunOnceId: "Service"

[Code]
procedure CurUninstallStepChanged(Step: TUninstallStep);
begin
  if Step = usPostUninstall then
    DelTree(ExpandConstant('{localappdata}\Grus-CUDA'), True, True, True);
  if (Step = usPostUninstall) and not UninstallSilent() then
    if MsgBox('Delete the conversations and settings of Grus as well? Models stay where they are.', mbConfirmation, MB_YESNO or MB_DEFBUTTON2) = IDYES then
      DelTree(ExpandConstant('{localappdata}\Grus'), True, True, True);
end;
